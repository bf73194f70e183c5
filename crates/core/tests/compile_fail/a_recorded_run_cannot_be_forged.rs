use belljar_core::execution::ExecutionRecord;
use belljar_core::run::Recorded;
use belljar_executor::ExecutionRequest;

fn forge(record: ExecutionRecord, request: ExecutionRequest) -> Recorded {
    Recorded { record, request }
}

fn main() {}
