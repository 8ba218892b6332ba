#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| nfs4_tests::fuzzing::compound_bytes(data));
