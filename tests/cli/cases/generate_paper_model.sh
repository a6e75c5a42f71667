regal generate set --paper --model layered
