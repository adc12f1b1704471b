package bolt

import (
	"bytes"
	"encoding/binary"
	"strings"

	"orebot/core/ledger"
	"orebot/core/session"
)

// The families of keys.
const (
	famThread   = 't'
	famBinding  = 'b'
	famCursor   = 'c'
	famPresence = 'p'
	famEntry    = 'e'
	famWaiting  = 'o'
	famHeard    = 'h'
	famExpiry   = 'x'
	famDue      = 'd'
	famMessage  = 'm'
	famShown    = 'n'
	famSmall    = 'k'
	famSums     = 's'
	famSchema   = 'v'
)

// What a thread's keys hold.
const (
	threadLog   = 'l'
	threadState = 'w'
)

const (
	logKeyLen   = 1 + 16 + 1 + 8
	stateKeyLen = 1 + 16 + 1
)

func stateKey(id ledger.ThreadID) []byte {
	k := make([]byte, 0, stateKeyLen)
	k = append(k, famThread)
	k = append(k, id[:]...)
	return append(k, threadState)
}

func logPrefix(id ledger.ThreadID) []byte {
	k := make([]byte, 0, logKeyLen+2)
	k = append(k, famThread)
	k = append(k, id[:]...)
	return append(k, threadLog)
}

func logKey(id ledger.ThreadID, seq ledger.Seq) []byte {
	return binary.BigEndian.AppendUint64(logPrefix(id), uint64(seq))
}

// textKey joins text parts with NUL behind the family byte.
func textKey(family byte, parts ...string) []byte {
	n := 1
	for _, p := range parts {
		n += len(p) + 1
	}
	k := make([]byte, 1, n+2)
	k[0] = family
	for i, p := range parts {
		if i > 0 {
			k = append(k, 0)
		}
		k = append(k, p...)
	}
	return k
}

func entryKey(id session.EntryID) []byte { return textKey(famEntry, string(id.Address), id.Key) }

func waitingKey(id session.EntryID, order string) []byte {
	return textKey(famWaiting, string(id.Address), order, id.Key)
}

func heardKey(id session.EntryID, order string) []byte {
	return textKey(famHeard, string(id.Address), order, id.Key)
}

func expiryKey(hour uint32, id session.EntryID) []byte {
	k := binary.BigEndian.AppendUint32([]byte{famExpiry}, hour)
	k = append(k, id.Address...)
	k = append(k, 0)
	return append(k, id.Key...)
}

func messageKey(a session.Address, message string) []byte {
	return textKey(famMessage, string(a), message)
}

func shownKey(ref session.MessageRef, a session.Address, message string) []byte {
	k := append([]byte{famShown}, ref.Thread[:]...)
	k = binary.BigEndian.AppendUint64(k, uint64(ref.Seq))
	k = append(k, a...)
	k = append(k, 0)
	return append(k, message...)
}

func smallKey(space, key string) []byte { return textKey(famSmall, space, key) }

// parts splits what stands behind the family byte at its NULs; ok is false unless there are n parts.
func parts(key []byte, n int) (out []string, ok bool) {
	if len(key) == 0 {
		return nil, false
	}
	out = strings.Split(string(key[1:]), "\x00")
	return out, len(out) == n
}

// entryOfWaiting reads the entry's id and order out of a key of the index of waiting or of heard entries.
func entryOfWaiting(key []byte) (id session.EntryID, order string, ok bool) {
	p, ok := parts(key, 3)
	if !ok {
		return session.EntryID{}, "", false
	}
	return session.EntryID{Address: session.Address(p[0]), Key: p[2]}, p[1], true
}

// entryOfExpiry reads the hour and the entry's id out of a key of the expiry index.
func entryOfExpiry(key []byte) (hour uint32, id session.EntryID, ok bool) {
	if len(key) < 5 {
		return 0, session.EntryID{}, false
	}
	p, ok := parts(key[4:], 2)
	if !ok {
		return 0, session.EntryID{}, false
	}
	return binary.BigEndian.Uint32(key[1:]), session.EntryID{Address: session.Address(p[0]), Key: p[1]}, true
}

// describe names the record under a key as a Conflict names it.
func describe(key []byte) string {
	if len(key) == 0 {
		return "nothing"
	}
	text := string(bytes.ReplaceAll(key[1:], []byte{0}, []byte{' '}))
	switch key[0] {
	case famThread:
		return "log"
	case famBinding:
		return "binding " + text
	case famCursor:
		return "cursor " + text
	case famPresence:
		return "presence " + text
	case famEntry:
		return "entry " + text
	case famSmall:
		return "small " + text
	}
	return "record " + text
}
