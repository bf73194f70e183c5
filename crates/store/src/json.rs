//! JSON documents in columns. Nested as deep as they were when they came in, so without the reader's
//! usual bound of 128 levels: what was accepted once must be readable for ever.

use belljar_core::ports::{StoreError, Stored};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The document of a value.
pub(crate) fn write(value: &impl Serialize) -> Stored<String> {
    serde_json::to_string(value).map_err(StoreError::unavailable)
}

/// The value of a document.
pub(crate) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Stored<T> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    T::deserialize(&mut reader).map_err(|error| StoreError::Damaged(format!("{what}: {error}")))
}
