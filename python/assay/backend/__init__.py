"""Backends, each in a module of its own; importing one imports no other."""
