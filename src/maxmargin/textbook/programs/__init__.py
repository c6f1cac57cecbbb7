"""The machines as quadratic programs, in primal and dual, and the interior-point method that solves them."""
