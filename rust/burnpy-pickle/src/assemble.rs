//! The opcodes that put values together: containers, the memo, names, objects.

use crate::error::{ErrorKind, Result};
use crate::heap::ITEM_COST;
use crate::machine::Machine;
use crate::opcode as op;
use crate::value::{Dict, Global, SetValue, Value, ValueId};

impl Machine<'_> {
    pub(crate) fn container(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let value = match opcode {
            op::EMPTY_LIST => Value::List(Vec::new()),
            op::EMPTY_DICT => Value::Dict(Box::default()),
            op::EMPTY_SET => Value::Set(Box::new(SetValue { items: Vec::new(), frozen: false })),
            op::LIST => Value::List(self.pop_to_mark()?),
            op::FROZENSET => Value::Set(Box::new(SetValue { items: self.pop_to_mark()?, frozen: true })),
            _ => {
                let items = self.pop_to_mark()?;
                Value::Dict(Box::new(Dict { entries: self.pairs(&items)?, state: None }))
            }
        };
        self.push_value(value)
    }

    pub(crate) fn tuple(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let count = match opcode {
            op::EMPTY_TUPLE => return self.push(self.heap.empty_tuple()),
            op::TUPLE => {
                let items = self.pop_to_mark()?;
                return self.push_value(Value::Tuple(items.into()));
            }
            op::TUPLE1 => 1,
            op::TUPLE2 => 2,
            _ => 3,
        };
        let mut items = vec![self.heap.none(); count];
        for item in items.iter_mut().rev() {
            *item = self.pop()?;
        }
        self.push_value(Value::Tuple(items.into()))
    }

    /// Removes the last mark and what is above it.
    fn pop_to_mark(&mut self) -> Result<Vec<ValueId>, ErrorKind> {
        let height = self.pop_mark()?;
        // Not `split_off`: at height 0 it hands over the stack's whole capacity with the items.
        let items = self.stack.get(height..).unwrap_or_default().to_vec();
        self.stack.truncate(height);
        Ok(items)
    }

    /// Keys and values in turn, as pairs.
    fn pairs(&self, items: &[ValueId]) -> Result<Vec<(ValueId, ValueId)>, ErrorKind> {
        let (pairs, rest) = items.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(ErrorKind::pickle(format!("{} keys and values do not make pairs", items.len())));
        }
        pairs.iter().map(|&[key, value]| self.hashable(key).map(|()| (key, value))).collect()
    }

    fn hashable(&self, key: ValueId) -> Result<(), ErrorKind> {
        match self.heap.arena.get(key) {
            Value::List(_) | Value::Dict(_) => Err(ErrorKind::pickle("a list or dict is no key")),
            Value::Set(set) if !set.frozen => Err(ErrorKind::pickle("a set is no key")),
            _ => Ok(()),
        }
    }

    pub(crate) fn append(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let items = match opcode {
            op::APPEND => vec![self.pop()?],
            _ => self.pop_to_mark()?,
        };
        let target = self.top()?;
        self.heap.budget.take(items.len() * ITEM_COST)?;
        match (self.heap.arena.get_mut(target), opcode) {
            (Some(Value::List(list)), op::APPEND | op::APPENDS) => list.extend(items),
            (Some(Value::Set(set)), op::ADDITEMS) if !set.frozen => set.items.extend(items),
            (Some(Value::Object(object)), _) => object.items.extend(items),
            _ => return Err(ErrorKind::pickle("items are added to something that takes none")),
        }
        Ok(())
    }

    pub(crate) fn set_items(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let items = match opcode {
            op::SETITEM => {
                let value = self.pop()?;
                vec![self.pop()?, value]
            }
            _ => self.pop_to_mark()?,
        };
        let pairs = self.pairs(&items)?;
        let target = self.top()?;
        self.heap.budget.take(items.len() * ITEM_COST)?;
        match self.heap.arena.get_mut(target) {
            Some(Value::Dict(dict)) => dict.entries.extend(pairs),
            Some(Value::Object(object)) => object.entries.extend(pairs),
            _ => return Err(ErrorKind::pickle("keys are set on something that has none")),
        }
        Ok(())
    }

    // The memo.

    pub(crate) fn put(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let index = match opcode {
            op::BINPUT => self.input.length::<1>()?,
            op::LONG_BINPUT => self.input.length::<4>()?,
            op::MEMOIZE => self.memo.len() as u64,
            _ => self.memo_line()?,
        };
        let top = self.top()?;
        self.memo.put(index, top, self.limits.max_memo)
    }

    pub(crate) fn get(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let index = match opcode {
            op::BINGET => self.input.length::<1>()?,
            op::LONG_BINGET => self.input.length::<4>()?,
            _ => self.memo_line()?,
        };
        let id = self.memo.get(index)?;
        self.push(id)
    }

    fn memo_line(&mut self) -> Result<u64, ErrorKind> {
        self.input.text_line()?.trim().parse().map_err(|_| ErrorKind::pickle("a memo index is no number"))
    }

    // Names and objects.

    pub(crate) fn global(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let global = match opcode {
            op::GLOBAL => self.global_lines()?,
            _ => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (self.heap.arena.text(module), self.heap.arena.text(name)) {
                    (Some(module), Some(name)) => Global { module: module.into(), name: name.into() },
                    _ => return Err(ErrorKind::pickle("the name of a class or function is no text")),
                }
            }
        };
        self.push_value(Value::Global(Box::new(global)))
    }

    fn global_lines(&mut self) -> Result<Global, ErrorKind> {
        Ok(Global { module: self.input.text_line()?.into(), name: self.input.text_line()?.into() })
    }

    pub(crate) fn persistent(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let id = match opcode {
            op::BINPERSID => self.pop()?,
            _ => {
                let text = self.input.text_line()?;
                self.heap.add(Value::Text(text.into()))?
            }
        };
        let value = self.heap.persistent(id, self.persistent)?;
        self.push(value)
    }

    pub(crate) fn call(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let kwargs = if opcode == op::NEWOBJ_EX { Some(self.pop()?) } else { None };
        let (callable, args) = match opcode {
            op::INST => {
                let class = self.global_lines()?;
                let class = self.heap.add(Value::Global(Box::new(class)))?;
                (class, self.args_to_mark()?)
            }
            op::OBJ => {
                let mut items = self.pop_to_mark()?;
                if items.is_empty() {
                    return Err(ErrorKind::pickle("an object has no class"));
                }
                let class = items.remove(0);
                (class, self.heap.add(Value::Tuple(items.into()))?)
            }
            _ => {
                let args = self.pop()?;
                (self.pop()?, args)
            }
        };
        let made = self.heap.call(callable, args, kwargs)?;
        self.push(made)
    }

    fn args_to_mark(&mut self) -> Result<ValueId, ErrorKind> {
        let items = self.pop_to_mark()?;
        self.heap.add(Value::Tuple(items.into()))
    }

    pub(crate) fn build(&mut self) -> Result<(), ErrorKind> {
        let state = self.pop()?;
        let target = self.top()?;
        self.heap.set_state(target, state)
    }
}
