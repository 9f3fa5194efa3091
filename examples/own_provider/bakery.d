/** What happens in a bakery. */
provider bakery {
    /**
     * A customer orders.
     *
     * @param customer who
     * @param loaves how many loaves
     */
    probe order__placed(char *customer, int loaves);

    /**
     * An order leaves the oven.
     *
     * @param customer whose
     * @param loaves how many loaves
     * @param minutes how long it was baked
     */
    probe order__baked(char *customer, int loaves, uint32_t minutes);
};
