regal inspect data/torch.zip:hf_albert_infer
