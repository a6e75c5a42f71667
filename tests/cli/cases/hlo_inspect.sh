regal inspect samples/../hlo/good/step.hlo.pb
