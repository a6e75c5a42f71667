regal dataset describe none.zip
