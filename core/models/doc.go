// Package models describes which model is asked and how it samples.
package models
