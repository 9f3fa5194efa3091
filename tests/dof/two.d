/* Firings by process, by wildcards in both names. */
dyntrace*:::efile_drv-int*
{
	@int[pid, probename, arg2] = count();
}

dyntrace*:::efile_drv-return
{
	@returned[pid, arg3, arg4] = count();
}

END
{
	printa("int %d %s %d %@d\n", @int);
	printa("return %d %d %d %@d\n", @returned);
}
