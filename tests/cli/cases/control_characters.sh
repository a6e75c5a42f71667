# A message stays one line, whatever it quotes.
regal optimize $'a\nb\033[31m.pb'
