//! The tests of `language` once more, in edition 2021: its words and its rules of scope differ.
