# A catalogue and a small model.
export WHICHTOOL_MANIFESTS=$PWD/none
mkdir none
"$python" "$stand_ins/../tiny_model.py" "$PWD/mymodel"
whichtool -q add samples/catalogue
