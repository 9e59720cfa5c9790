"""Draws of single operators and short chains at the sizes of real models."""
