# A catalogue and the built-in encoder.
export WHICHTOOL_MANIFESTS=$PWD/none
whichtool -q add samples/catalogue
