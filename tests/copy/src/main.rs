//! The program a user has: the machine, and the verbs.

use copy_tests::Shop;

gen_durable::worker!(Shop::connect);
