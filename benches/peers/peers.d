/* The same probe by each peer, distinguished by the provider's name. */
provider peers_dyntrace {
    /** One pass of the loop. */
    probe hit(uint64_t pass);

    /** One integer: the smallest event worth recording. */
    probe one(int64_t value);

    /** Like efile_drv-entry of dyntrace. */
    probe entry(int thread_id, int tag, char *user_tag, int command,
                char *s1, char *s2,
                int64_t i1, int64_t i2, int64_t i3, int64_t i4,
                char *port);

    /** Like function-entry of dyntrace. */
    probe call(char *proc, char *function, char *arguments,
               char *user_tag, char *caller);
};
