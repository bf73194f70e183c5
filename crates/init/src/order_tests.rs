use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..64)
}

fn job() -> impl Strategy<Value = Job> {
    let limit = (any::<u32>(), any::<u64>(), any::<u64>()).prop_map(|(resource, soft, hard)| ResourceLimit {
        resource,
        soft,
        hard,
    });
    let lists = (vec(bytes(), 0..5), vec(bytes(), 0..5), vec(bytes(), 0..4), vec(bytes(), 0..4));
    (bytes(), bytes(), vec(limit, 0..8), lists, any::<u64>(), bytes()).prop_map(
        |(program, folder, rlimits, lists, memory_bytes, removed)| {
            let (argv, environment, filters, watched) = lists;
            Job { program, argv, environment, folder, rlimits, filters, watched, memory_bytes, removed }
        },
    )
}

fn step() -> impl Strategy<Value = (Step, Vec<u8>)> {
    let none = |step| (step, Vec::new());
    prop_oneof![
        (bytes(), any::<u64>(), any::<u64>(), any::<u32>())
            .prop_map(move |(path, bytes, inodes, mode)| none(Step::Mount { path, bytes, inodes, mode })),
        (bytes(), any::<u32>()).prop_map(move |(path, mode)| none(Step::Folder { path, mode })),
        (bytes(), bytes()).prop_map(move |(path, target)| none(Step::Link { path, target })),
        bytes().prop_map(move |path| none(Step::Seal { path })),
        job().prop_map(move |job| none(Step::Run(job))),
        (bytes(), any::<u32>(), vec(any::<u8>(), 0..100_000))
            .prop_map(|(path, mode, content)| { (Step::File { path, mode, length: content.len() as u64 }, content) }),
    ]
}

fn written(steps: &[(Step, Vec<u8>)]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    for (step, content) in steps {
        writer.step(step).unwrap();
        writer.content(content).unwrap();
    }
    writer.finish()
}

proptest! {
    #[test]
    fn what_is_written_is_read(steps in vec(step(), 0..12)) {
        let order = written(&steps);
        let mut reader = Reader::new(order.as_slice()).unwrap();
        for (step, content) in &steps {
            prop_assert_eq!(&reader.step().unwrap(), step);
            let mut copied = Vec::new();
            reader.copy(content.len() as u64, &mut copied).unwrap();
            prop_assert_eq!(&copied, content);
        }
        prop_assert!(reader.step().is_err());
    }

    #[test]
    fn a_cut_order_is_an_error_and_never_another_step(step in step(), cut in any::<prop::sample::Index>()) {
        let order = written(&[(step.0.clone(), Vec::new())]);
        let mut reader = Reader::new(&order[..8 + cut.index(order.len() - 8)]).unwrap();
        prop_assert!(reader.step().is_err());
    }

    #[test]
    fn noise_is_never_a_panic(noise in vec(any::<u8>(), 0..512)) {
        let mut order = MAGIC.to_vec();
        order.extend(noise);
        let mut reader = Reader::new(order.as_slice()).unwrap();
        while reader.step().is_ok() {}
    }
}

#[test]
fn a_huge_length_is_refused_before_anything_is_allocated() {
    let mut order = MAGIC.to_vec();
    order.push(2);
    order.extend(u64::MAX.to_le_bytes());
    assert_eq!(Reader::new(order.as_slice()).unwrap().step().unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn something_else_is_not_an_order() {
    assert!(Reader::new(&b"BJORDER2"[..]).is_err());
}
