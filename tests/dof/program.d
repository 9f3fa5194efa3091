/* The probes of tests/dof/program.rs, and of the program that it becomes. */
#pragma D option quiet

dyntrace*:::efile_drv-entry
{
	printf("entry %d %d %s %d %s %s %d %d %d %d\n", (int)arg0, (int)arg1, copyinstr(arg2), (int)arg3,
	    copyinstr(arg4), copyinstr(arg5), arg6, arg7, arg8, arg9);
}

dyntrace*:::user_trace-i4s4
{
	printf("i4s4 %s %s %d %d %d %d %s %s %s %s\n", copyinstr(arg0), copyinstr(arg1), arg2, arg3, arg4, arg5,
	    copyinstr(arg6), copyinstr(arg7), copyinstr(arg8), copyinstr(arg9));
}

dyntrace*:::user_trace-s1
{
	printf("s1 %s %s\n", probemod, arg0 == 0 ? "" : copyinstr(arg0));
}

dof_v2*:::several-words-in-it
{
	printf("second %d\n", (int)arg0);
}
