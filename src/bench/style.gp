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
