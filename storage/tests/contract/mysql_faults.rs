//! What goes wrong between the mall and MySQL.
