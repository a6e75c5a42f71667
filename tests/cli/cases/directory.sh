regal inspect graphs
