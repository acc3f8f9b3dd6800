# A catalogue with recorded use, and a small model to distil.
export WHICHTOOL_MANIFESTS=$PWD/none
"$python" "$stand_ins/../tiny_model.py" "$PWD/mymodel"
whichtool -q add samples/catalogue
whichtool -q usage add samples/usages.jsonl
