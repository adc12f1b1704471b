package words

import (
	"fmt"
	"strconv"
	"time"
)

// Number prints a number with a comma before every third digit.
func Number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Estimate prints a number, not below zero, that isn't known for sure: to the hundred, one below a thousand to the ten.
func Estimate(n int) string {
	step := 100
	if n < 1000 {
		step = 10
	}
	return Number((n + step/2) / step * step)
}

// Duration prints a duration in its largest unit that people would use for it: seconds, minutes, hours or days.
func Duration(d time.Duration) string {
	switch {
	case d < 90*time.Second:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()+0.5))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()+0.5))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24+0.5))
	}
}
