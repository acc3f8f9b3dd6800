# A data set of six tools whose requests need two, and a small encoder that is trained in seconds.
"$python" "$stand_ins/../tiny_model.py" "$WHICHTOOL_MODELS/whichtool-minilm-v2"
six_tools 120 2 1 train=0,1 dev=2 test=3
mkdir mytools && mv data/* mytools && mv mytools data
