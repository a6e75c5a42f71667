regal inspect -
