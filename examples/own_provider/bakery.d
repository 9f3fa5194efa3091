/** Events of a bakery. */
provider bakery {
    /**
     * A customer orders.
     *
     * @param customer name of the customer
     * @param loaves number of loaves
     */
    probe order__placed(char *customer, int loaves);

    /**
     * An order leaves the oven.
     *
     * @param customer name of the customer
     * @param loaves number of loaves
     * @param minutes baking time
     */
    probe order__baked(char *customer, int loaves, uint32_t minutes);
};
