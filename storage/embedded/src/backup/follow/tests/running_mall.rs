//! The database of the mall, with its writer and its checkpointer.
