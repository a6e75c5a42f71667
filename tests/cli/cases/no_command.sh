regal
