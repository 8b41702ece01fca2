//! The pickle machine: opcodes in, plain data out.
//!
//! It has a stack, a memo and a heap of values, and no way to import, call or open anything. Every opcode
//! takes at least one byte of the file and constant time, or time and memory that its budget is charged for.

use crate::error::{Error, ErrorKind, Result};
use crate::heap::{Heap, Persistent};
use crate::input::Input;
use crate::limits::{Limits, check};
use crate::memo::Memo;
use crate::opcode as op;
use crate::value::{Value, ValueId};

/// What one pickle held.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The value that it is about.
    pub(crate) root: ValueId,
    /// Where it ends.
    pub(crate) end: usize,
    /// The protocol that it states; 0 if it states none.
    pub(crate) protocol: u8,
}

/// Reads one pickle from the start of `input`.
pub(crate) fn load(
    heap: &mut Heap,
    limits: &Limits,
    input: Input<'_>,
    persistent: Persistent<'_>,
) -> Result<Loaded> {
    let machine = Machine {
        heap,
        limits,
        input,
        persistent,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: Memo::default(),
    };
    machine.run()
}

pub(crate) struct Machine<'a> {
    pub(crate) heap: &'a mut Heap,
    pub(crate) limits: &'a Limits,
    pub(crate) input: Input<'a>,
    pub(crate) persistent: Persistent<'a>,
    pub(crate) stack: Vec<ValueId>,
    /// Heights of the stack at each mark.
    pub(crate) marks: Vec<usize>,
    pub(crate) memo: Memo,
}

impl Machine<'_> {
    fn run(mut self) -> Result<Loaded> {
        let mut protocol = 0;
        let mut count = 0u64;
        loop {
            let start = self.input.pos();
            let at = |kind: ErrorKind| Error::from(kind).with_offset(start);
            count += 1;
            if count.is_multiple_of(4096) {
                check("the number of opcodes", count, self.limits.max_opcodes).map_err(at)?;
                self.heap.budget.check_time().map_err(at)?;
            }
            match self.input.byte().map_err(at)? {
                op::STOP => {
                    let root = self.pop().map_err(at)?;
                    return Ok(Loaded { root, end: self.input.pos(), protocol });
                }
                op::PROTO => protocol = self.protocol().map_err(at)?,
                opcode => self.step(opcode).map_err(at)?,
            }
        }
    }

    /// Does what one opcode says.
    fn step(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        match opcode {
            op::MARK => self.mark(),
            op::POP | op::POP_MARK | op::DUP => self.shuffle(opcode),
            op::NONE | op::NEWTRUE | op::NEWFALSE => self.constant(opcode),
            op::INT | op::LONG | op::BININT | op::BININT1 | op::BININT2 | op::LONG1 | op::LONG4 => {
                self.int(opcode)
            }
            op::FLOAT | op::BINFLOAT => self.float(opcode),
            op::STRING | op::BINSTRING | op::SHORT_BINSTRING => self.byte_string(opcode),
            op::UNICODE | op::BINUNICODE | op::SHORT_BINUNICODE | op::BINUNICODE8 => self.unicode(opcode),
            op::BINBYTES | op::SHORT_BINBYTES | op::BINBYTES8 | op::BYTEARRAY8 => self.bytes(opcode),
            op::EMPTY_LIST | op::LIST | op::EMPTY_DICT | op::DICT | op::EMPTY_SET | op::FROZENSET => {
                self.container(opcode)
            }
            op::EMPTY_TUPLE | op::TUPLE | op::TUPLE1 | op::TUPLE2 | op::TUPLE3 => self.tuple(opcode),
            op::APPEND | op::APPENDS | op::ADDITEMS => self.append(opcode),
            op::SETITEM | op::SETITEMS => self.set_items(opcode),
            op::PUT | op::BINPUT | op::LONG_BINPUT | op::MEMOIZE => self.put(opcode),
            op::GET | op::BINGET | op::LONG_BINGET => self.get(opcode),
            op::GLOBAL | op::STACK_GLOBAL => self.global(opcode),
            op::PERSID | op::BINPERSID => self.persistent(opcode),
            op::REDUCE | op::NEWOBJ | op::NEWOBJ_EX | op::INST | op::OBJ => self.call(opcode),
            op::BUILD => self.build(),
            op::FRAME => self.input.frame(self.limits),
            op::EXT1 | op::EXT2 | op::EXT4 => {
                Err(ErrorKind::pickle("extension codes have a meaning only where it was written"))
            }
            op::NEXT_BUFFER | op::READONLY_BUFFER => {
                Err(ErrorKind::pickle("its buffers are not in the file"))
            }
            _ => Err(ErrorKind::pickle(format!("unknown opcode {opcode:#04x}"))),
        }
    }

    fn protocol(&mut self) -> Result<u8, ErrorKind> {
        let protocol = self.input.byte()?;
        if protocol > op::HIGHEST_PROTOCOL {
            let highest = op::HIGHEST_PROTOCOL;
            return Err(ErrorKind::pickle(format!(
                "protocol {protocol} is newer than {highest}, the newest known"
            )));
        }
        Ok(protocol)
    }

    // The stack.

    pub(crate) fn push(&mut self, id: ValueId) -> Result<(), ErrorKind> {
        check("the height of the stack", self.stack.len() as u64 + 1, self.limits.max_stack as u64)?;
        self.stack.push(id);
        Ok(())
    }

    pub(crate) fn push_value(&mut self, value: Value) -> Result<(), ErrorKind> {
        let id = self.heap.add(value)?;
        self.push(id)
    }

    pub(crate) fn pop(&mut self) -> Result<ValueId, ErrorKind> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    /// The topmost value, not to be taken from below the last mark.
    pub(crate) fn top(&self) -> Result<ValueId, ErrorKind> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.last() {
            Some(top) if self.stack.len() > floor => Ok(*top),
            _ => Err(ErrorKind::pickle("the stack is empty")),
        }
    }

    fn mark(&mut self) -> Result<(), ErrorKind> {
        check("the number of marks", self.marks.len() as u64 + 1, self.limits.max_stack as u64)?;
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// Removes the last mark; its height.
    pub(crate) fn pop_mark(&mut self) -> Result<usize, ErrorKind> {
        let height = self.marks.pop().ok_or_else(|| ErrorKind::pickle("there is no mark"))?;
        Ok(height.min(self.stack.len()))
    }

    fn shuffle(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        match opcode {
            op::DUP => {
                let top = self.top()?;
                self.push(top)
            }
            op::POP if self.marks.last() != Some(&self.stack.len()) => self.pop().map(drop),
            _ => {
                let height = self.pop_mark()?;
                self.stack.truncate(height);
                Ok(())
            }
        }
    }
}
