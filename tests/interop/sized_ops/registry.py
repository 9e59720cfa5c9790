"""Functions (Graph, element type) that draw what is compared, with how often each is drawn and of which types."""

DRAWS = []


def draws(weight, dtypes):
    def register(function):
        DRAWS.append((function, weight, dtypes.split()))
        return function
    return register
