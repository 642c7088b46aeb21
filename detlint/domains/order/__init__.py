"""Order: what becomes of the items of a set, a listing, results, tasks or queues, through returns, containers and arithmetic."""
