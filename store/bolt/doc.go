// Package bolt keeps everything that orebot must not forget in one bbolt file. It is the only package that imports bbolt, and
// nothing of bbolt shows through it: it implements session.Store.
//
// # Schema
//
// The file holds one bucket, "orebot". A key begins with the byte of its family; numbers in keys are big-endian, so that they
// sort. Text parts hold no NUL, so that NUL can end them.
//
//	orebot
//	├── t <thread 16> l <seq 8>                 log record      kind 1, body (JSON by kind)
//	├── t <thread 16> w                         thread state    revision 16, last 8, JSON session.Thread
//	├── b <address>                             binding         revision 16, JSON session.Binding
//	├── c <address>                             cursor          revision 16, JSON session.Cursor
//	├── p <address>                             presence        revision 16, JSON session.Presence
//	├── e <address> 00 <key>                    entry           revision 16, state 1, end 1, hour 4, len 1, order, JSON session.Entry
//	├── o <address> 00 <order> 00 <key>         waiting entry   –        present while the entry waits
//	├── h <address> 00 <order> 00 <key>         heard entry     –        present while it is heard and not used
//	├── x <hour 4> <address> 00 <key>           expiry          –        present once it no longer waits, if it may expire
//	├── d <address>                             due             seq 8    the address is behind, up to this record
//	├── m <address> 00 <message>                shown message   thread 16, seq 8, offset 8
//	├── n <thread 16> <seq 8> <address> 00 <message>   its reverse     offset 8
//	├── k <space> 00 <key>                      small value     revision 16, the value
//	├── s                                       sums            JSON: entries by outcome, kept and expired
//	└── v                                       schema          version 4
//
// Every value begins with a format byte, which is 1 today. A value of more than 4 KiB is cut: its format byte has the high bit
// set and is followed by the number of further chunks (2 bytes); chunk i of a record lies behind it under the record's key and i
// in 2 bytes. As no value has 256 chunks, the first of the two is NUL, and a chunk's key can't be the key of another record.
//
// The revision of a record is the id of the Batch that wrote it. The figures in front of the JSON of an entry and a thread state
// repeat what the JSON says, so that the committer never has to decode it. The hour of an entry is counted from 1970; zero means
// that nobody has said when it expires.
//
// # Writing
//
// One committer at a time takes all Batches that wait and puts them in one bbolt transaction. It runs only while there is work.
// Values are encoded by the caller of Commit. A commit that fails leaves it open whether the Batches are there: their writers are
// told session.ErrUnknown, the store refuses everything from then on, and Failed is closed, so that the process can end. What the
// file says at the next start is what happened.
//
// A thread is erased from its end, some hundred keys a transaction, and its state says each time how much of it is left.
//
// # Reading
//
// A read sees what is on disk, never a transaction whose last sync is still under way (bbolt would show it), and never waits for
// the disk's writes.
//
// # Where things are
//
//	the file             open, openerror, lock, migrate, pages, walk (is the structure whole); store
//	formats              keys, codec, value
//	writing              committer, queue, prepare (encodes), check (counts), apply (preconditions), writer, sums
//	reading              read, readlog, readlist, shown, snapshot, mentions, watch
//	forgetting           erase, sweep
//	proof                verify, verify_index
package bolt
