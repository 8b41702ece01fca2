//! The opcodes that make plain values: constants, numbers, strings, bytes.

use crate::bigint::BigInt;
use crate::error::{ErrorKind, Result};
use crate::input::{LONG_TEXT, int_value};
use crate::limits::check;
use crate::machine::Machine;
use crate::opcode as op;
use crate::text;
use crate::value::{Blob, LongText, Value};

impl Machine<'_> {
    pub(crate) fn constant(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        match opcode {
            op::NONE => self.push(self.heap.none()),
            _ => self.push_value(Value::Bool(opcode == op::NEWTRUE)),
        }
    }

    pub(crate) fn int(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let value = match opcode {
            op::BININT => Value::Int(i64::from(i32::from_le_bytes(self.input.array()?))),
            op::BININT1 => Value::Int(i64::from(self.input.byte()?)),
            op::BININT2 => Value::Int(i64::from(u16::from_le_bytes(self.input.array()?))),
            op::LONG1 => {
                let len = self.input.length::<1>()?;
                self.input.long(len, self.limits)?
            }
            op::LONG4 => {
                let len = self.input.length::<4>()?;
                self.input.long(len, self.limits)?
            }
            _ => self.decimal(opcode)?,
        };
        self.push_value(value)
    }

    /// An integer as a line of digits; `00` and `01` are booleans, a long may end with `L`.
    fn decimal(&mut self, opcode: u8) -> Result<Value, ErrorKind> {
        let line = self.input.text_line()?.trim();
        if opcode == op::INT && (line == "00" || line == "01") {
            return Ok(Value::Bool(line == "01"));
        }
        let digits = line.strip_suffix('L').unwrap_or(line);
        check("the length of an integer", digits.len() as u64, self.limits.max_int_len as u64)?;
        BigInt::from_decimal(digits)
            .map(int_value)
            .ok_or(ErrorKind::pickle("an integer is not made of digits"))
    }

    pub(crate) fn float(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let float = match opcode {
            op::BINFLOAT => f64::from_be_bytes(self.input.array()?),
            _ => {
                let line = self.input.text_line()?.trim();
                check("the length of a float", line.len() as u64, self.limits.max_int_len as u64)?;
                line.parse().map_err(|_| ErrorKind::pickle("a float is not made of digits"))?
            }
        };
        self.push_value(Value::Float(float))
    }

    pub(crate) fn byte_string(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let len = match opcode {
            op::SHORT_BINSTRING => self.input.length::<1>()?,
            op::BINSTRING => self.input.length::<4>()?,
            _ => {
                let bytes = text::string_literal(self.input.line()?)?;
                let blob = || Value::Bytes(Box::new(Blob::owned(&bytes)));
                return self.push_value(std::str::from_utf8(&bytes).map_or_else(|_| blob(), decoded_text));
            }
        };
        let value = self.input.byte_string(len, self.limits)?;
        self.push_value(value)
    }

    pub(crate) fn unicode(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let len = match opcode {
            op::SHORT_BINUNICODE => self.input.length::<1>()?,
            op::BINUNICODE => self.input.length::<4>()?,
            op::BINUNICODE8 => self.input.length::<8>()?,
            _ => {
                let decoded = text::raw_unicode_escape(self.input.line()?)?;
                return self.push_value(decoded_text(&decoded));
            }
        };
        let value = self.input.text(len, self.limits)?;
        self.push_value(value)
    }

    pub(crate) fn bytes(&mut self, opcode: u8) -> Result<(), ErrorKind> {
        let len = match opcode {
            op::SHORT_BINBYTES => self.input.length::<1>()?,
            op::BINBYTES => self.input.length::<4>()?,
            _ => self.input.length::<8>()?,
        };
        let value = self.input.blob(len, self.limits)?;
        self.push_value(value)
    }
}

/// Text that is nowhere in the file as it is.
fn decoded_text(text: &str) -> Value {
    if text.len() <= LONG_TEXT {
        return Value::Text(text.into());
    }
    Value::LongText(Box::new(LongText::new(text, Blob::owned(text.as_bytes()))))
}
