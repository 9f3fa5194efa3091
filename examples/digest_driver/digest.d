/** Digests of files. */
provider digest {
    /**
     * The driver accepted an operation. {thread_id, tag} names it until its
     * digest_drv-return.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param user_tag the user tag of the task that submitted it
     * @param command number of the command: 1 SHA256, 2 SHA512
     * @param path the file
     * @param port the port of the driver, as "#Port<0.N>"
     */
    probe digest_drv__entry(int thread_id, int tag, char *user_tag, int command,
                            char *path, char *port);

    /**
     * An I/O thread starts an operation's job.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param command number of the command
     */
    probe digest_drv__int_entry(int thread_id, int tag, int command);

    /**
     * An I/O thread ended an operation's job.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param command number of the command
     */
    probe digest_drv__int_return(int thread_id, int tag, int command);

    /**
     * The driver returned an operation's result; fires once for each digest_drv-entry.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param user_tag the user tag of the task that submitted it
     * @param command number of the command
     * @param success 1 for success, 0 for failure
     * @param bytes number of bytes in the digest
     * @param error the error; absent on success
     */
    probe digest_drv__return(int thread_id, int tag, char *user_tag, int command,
                             int success, uint64_t bytes, char *error);
};
