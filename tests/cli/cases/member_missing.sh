regal inspect data/torch.zip:hf_albert
