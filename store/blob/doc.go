// Package blob keeps the bytes of attachments as files of one directory, each named by the SHA-256 of its content:
//
//	blobs/
//	├── 9f86d081…        64 hexadecimal digits: a blob
//	└── .new-…           one that is being written; whatever a crash leaves is removed by the next Open
//
// A blob is written, synced, renamed, and its directory synced, so that it is whole or not there, and durable once Put has returned.
// The same bytes are one file. Nothing is ever changed. It implements session.Blobs.
package blob
