# gnuplot quality.gp, in this folder
# SPDX-License-Identifier: Apache-2.0
# The style of all figures. Colours are those of Okabe and Ito, which people
# with any colour vision can tell apart; lines also differ by their points. The
# legend is beside the plot, never over the data.
set datafile separator ','
set border 3 lc '#444444'
set tics nomirror out
set grid lc '#dddddd' lw 1
set key outside right center noenhanced Left reverse samplen 2 spacing 1.25
set title noenhanced
set linetype 1 lc '#0072b2' lw 2 pt 7 ps 0.7
set linetype 2 lc '#d55e00' lw 2 pt 5 ps 0.7
set linetype 3 lc '#009e73' lw 2 pt 9 ps 0.9
set linetype 4 lc '#cc79a7' lw 2 pt 13 ps 0.9
set linetype 5 lc '#e69f00' lw 2 pt 11 ps 0.9
set linetype 6 lc '#56b4e9' lw 2 pt 4 ps 0.7
set linetype 7 lc '#444444' lw 2 pt 6 ps 0.7
set linetype 8 lc '#999933' lw 2 pt 8 ps 0.9
set linetype cycle 8

set terminal svg size 780,400 dynamic font 'sans,13' background 'white'
set logscale x
set xlabel 'seconds'
set ylabel 'gap to the best known plan, %'
set yrange [0:]
set output 'free.svg'
set title 'free' noenhanced
plot 'free.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'blocking-25.svg'
set title 'blocking-25' noenhanced
plot 'blocking-25.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'blocking-450.svg'
set title 'blocking-450' noenhanced
plot 'blocking-450.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'overlapped-25.svg'
set title 'overlapped-25' noenhanced
plot 'overlapped-25.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'runtime-4.svg'
set title 'runtime-4' noenhanced
plot 'runtime-4.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'memory-2.svg'
set title 'memory-2' noenhanced
plot 'memory-2.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'memory-4.svg'
set title 'memory-4' noenhanced
plot 'memory-4.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
set output 'limited.svg'
set title 'limited' noenhanced
plot 'limited.csv' index 0 using 1:2:3 with yerrorlines lt 1 title 'auto'
