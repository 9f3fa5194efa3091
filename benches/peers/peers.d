/* The same probe by each peer; the provider's name tells them apart. */
provider peers_dyntrace {
    /** One pass of the loop. */
    probe hit(uint64_t pass);
};
