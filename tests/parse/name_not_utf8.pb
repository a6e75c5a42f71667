

convÿ1