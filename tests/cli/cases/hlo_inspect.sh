regal inspect hlo/good/step.hlo.pb
