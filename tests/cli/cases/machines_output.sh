regal machines -o all.json
