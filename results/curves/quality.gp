# gnuplot quality.gp, in this folder
set terminal svg size 640,400 dynamic font 'sans,13' \
  background 'white'
set datafile separator ','
set key top right noenhanced
set logscale x
set xlabel 'seconds'
set ylabel 'gap to the best known plan, %'
set grid ytics lc '#dddddd'
set border 3
set tics nomirror out
set yrange [0:]
set output 'free.svg'
set title 'free' noenhanced
plot 'free.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'blocking-25.svg'
set title 'blocking-25' noenhanced
plot 'blocking-25.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'blocking-450.svg'
set title 'blocking-450' noenhanced
plot 'blocking-450.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'overlapped-25.svg'
set title 'overlapped-25' noenhanced
plot 'overlapped-25.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'runtime-4.svg'
set title 'runtime-4' noenhanced
plot 'runtime-4.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'memory-2.svg'
set title 'memory-2' noenhanced
plot 'memory-2.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'memory-4.svg'
set title 'memory-4' noenhanced
plot 'memory-4.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
set output 'limited.svg'
set title 'limited' noenhanced
plot 'limited.csv' index 0 using 1:2:3 with yerrorlines lw 2 pt 7 ps 0.5 title 'auto'
