package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// A GGUF file of version 3 is a head, pairs of keys and values, descriptions of tensors, and their data, each tensor at a multiple of
// 32 bytes. Numbers are little-endian, strings have their length in front.
const (
	ggufVersion = 3
	alignment   = 32
	typeF32     = 0
	typeF16     = 1
)

// pair is one key with its value: a uint32, float32, bool, string, []string or []int32.
type pair struct {
	key   string
	value any
}

// tensor is a matrix of rows of width numbers; with one row it is a vector, of full floats.
type tensor struct {
	name        string
	width, rows int
	at          func(row, col int) float32
}

func (t tensor) vector() bool { return t.rows == 1 }

// file builds a GGUF file in memory.
type file struct{ bytes.Buffer }

func (f *file) number(v any) { _ = binary.Write(f, binary.LittleEndian, v) } // a Buffer takes everything

func (f *file) text(s string) {
	f.number(uint64(len(s)))
	f.WriteString(s)
}

// encode returns the file that holds the pairs and the tensors.
func encode(pairs []pair, tensors []tensor) ([]byte, error) {
	f := &file{}
	f.WriteString("GGUF")
	f.number(uint32(ggufVersion))
	f.number(uint64(len(tensors)))
	f.number(uint64(len(pairs)))
	for _, p := range pairs {
		f.text(p.key)
		if err := f.value(p.value); err != nil {
			return nil, fmt.Errorf("%s: %w", p.key, err)
		}
	}
	data := &file{}
	for _, t := range tensors {
		f.describe(t, data.Len())
		data.fill(t)
	}
	f.align()
	f.Write(data.Bytes())
	return f.Bytes(), nil
}

// value writes a value behind the number of its type.
func (f *file) value(v any) error {
	switch v := v.(type) {
	case uint32:
		f.number(uint32(4))
		f.number(v)
	case float32:
		f.number(uint32(6))
		f.number(v)
	case bool:
		f.number(uint32(7))
		f.number(v)
	case string:
		f.number(uint32(8))
		f.text(v)
	case []int32:
		f.number([]uint32{9, 5})
		f.number(uint64(len(v)))
		f.number(v)
	case []string:
		f.number([]uint32{9, 8})
		f.number(uint64(len(v)))
		for _, s := range v {
			f.text(s)
		}
	default:
		return fmt.Errorf("a GGUF file has no %T", v)
	}
	return nil
}

func (f *file) describe(t tensor, offset int) {
	f.text(t.name)
	if t.vector() {
		f.number(uint32(1))
		f.number(uint64(t.width))
		f.number(uint32(typeF32))
	} else {
		f.number(uint32(2))
		f.number([]uint64{uint64(t.width), uint64(t.rows)})
		f.number(uint32(typeF16))
	}
	f.number(uint64(offset))
}

func (f *file) fill(t tensor) {
	for row := range t.rows {
		for col := range t.width {
			if x := t.at(row, col); t.vector() {
				f.number(x)
			} else {
				f.number(half(x))
			}
		}
	}
	f.align()
}

func (f *file) align() {
	f.Write(make([]byte, (alignment-f.Len()%alignment)%alignment))
}

// half returns a float of 16 bits. What is too small for a normal one is zero; nothing here is too large.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	exponent := int(bits>>23&0xff) - 127 + 15
	if exponent <= 0 {
		return 0
	}
	return uint16(bits>>16&0x8000) | uint16(exponent)<<10 | uint16(bits>>13&0x3ff)
}
