/*
 * orders.d - orders of each customer, with their baking times.
 *
 * USAGE
 *     dyntrace run examples/own_provider/scripts/orders.d -- target/release/own_provider
 */

#pragma D option quiet

bakery$target:::order-placed
{
	printf("%s orders %d\n", copyinstr(arg0), (int)arg1);
}

bakery$target:::order-baked
{
	printf("%s gets %d after %d minutes\n", copyinstr(arg0), (int)arg1, (int)arg2);
}
