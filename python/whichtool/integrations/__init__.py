"""Adaptors to agent frameworks, one module each, imported on use: whichtool itself needs none of them."""
