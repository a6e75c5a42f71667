

aH€