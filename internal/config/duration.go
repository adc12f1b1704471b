package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration whose text form takes d (24 h) and w (7 d) too: "1w2d", "1.5d", "90m". "0" and "-1" need
// no unit; what a negative one means is the key's matter.
type Duration time.Duration

// D returns d as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// ParseDuration reads the text form of a Duration.
func ParseDuration(s string) (Duration, error) {
	var d Duration
	err := d.UnmarshalText([]byte(s))
	return d, err
}

// UnmarshalText reads the text form.
func (d *Duration) UnmarshalText(text []byte) error {
	s := strings.TrimSpace(string(text))
	if s == "-1" {
		*d = -1
		return nil
	}
	long, rest, err := longUnits(s)
	if err != nil {
		return err
	}
	short, err := time.ParseDuration(rest)
	if err != nil {
		return fmt.Errorf("%q is not a duration such as \"90s\", \"6h\" or \"2d\"", s)
	}
	if strings.HasPrefix(s, "-") {
		long = -long
	}
	sum := long + short
	if (long > 0 && short > 0 && sum < 0) || (long < 0 && short < 0 && sum > 0) {
		return fmt.Errorf("%q is too long a duration", s)
	}
	*d = Duration(sum)
	return nil
}

// longUnits takes the parts in weeks and days off the front of s. What remains is a duration of the standard library.
func longUnits(s string) (time.Duration, string, error) {
	m := regexp.MustCompile(`^([+-]?)((?:[0-9.]+[wd])+)(.*)$`).FindStringSubmatch(s)
	if m == nil {
		return 0, s, nil
	}
	var total float64
	for _, p := range regexp.MustCompile(`([0-9.]+)([wd])`).FindAllStringSubmatch(m[2], -1) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil {
			return 0, "", fmt.Errorf("%q is not a duration such as \"90s\", \"6h\" or \"2d\"", s)
		}
		unit := 24 * time.Hour
		if p[2] == "w" {
			unit *= 7
		}
		total += n * float64(unit)
	}
	if total > math.MaxInt64/2 {
		return 0, "", fmt.Errorf("%q is too long a duration", s)
	}
	if m[3] == "" {
		return time.Duration(total), "0", nil
	}
	if strings.ContainsAny(m[3][:1], "+-") {
		return 0, "", errors.New("a sign belongs in front of a duration")
	}
	return time.Duration(total), m[1] + m[3], nil
}

// MarshalText returns the text form, which UnmarshalText reads back.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the shortest text form: "6h", not "6h0m0s"; "2d", not "48h".
func (d Duration) String() string {
	switch {
	case d == 0:
		return "0"
	case d == -1:
		return "-1"
	case d < 0:
		return time.Duration(d).String()
	}
	day := Duration(24 * time.Hour)
	if d%day == 0 {
		if n := d / day; n%7 != 0 {
			return strconv.FormatInt(int64(n), 10) + "d"
		} else {
			return strconv.FormatInt(int64(n/7), 10) + "w"
		}
	}
	s := time.Duration(d).String()
	s = strings.Replace(s, "m0s", "m", 1)
	return strings.Replace(s, "h0m", "h", 1)
}
