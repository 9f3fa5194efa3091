/* A provider for tests. */
provider shop {
    /**
     * A customer paid, see <https://example.org/orders>.
     *
     *     indented [text] | "<0.5.0>"
     *
     * @param name the customer's name
     * @param cents what was paid,
     *              in `cents`
     * @param gone a parameter of long ago
     */
    probe order__paid(const char *name, uint32_t cents);

    probe order__return(int type, unsigned char, long balance);

    /** The clock ticks. */
    probe tick();
};

#pragma D attributes Evolving/Evolving/Common provider shop name
