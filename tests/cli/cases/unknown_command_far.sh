regal frobnicate
