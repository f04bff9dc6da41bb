//! Programs of litmus tests, and their text format.
//!
//! Threads are separated by `|`, instructions by `;`. Variables are single letters with the initial value 0. Memory
//! orderings are `l` (relaxed, the default), `a` (acquire), `r` (release), `q` (acquire-release) and `s` (sequentially
//! consistent).
//!
//! | text | meaning |
//! | --- | --- |
//! | `Wx1`, `Wx1r` | store 1 to x |
//! | `Wx@` | store the value that this thread read last |
//! | `Rx`, `Rxa` | load x |
//! | `Ux+1`, `Ux+1q` | add 1 to x, a read-modify-write |
//! | `Xx1q` | swap x for 1 |
//! | `Cx0>1ql` | replace 0 by 1, acquire-release if it succeeds, relaxed if it fails |
//! | `Fs` | fence |
//! | `?1` | end the thread unless it read 1 last |
//! | `!1` | go back to the instruction before, which reads, unless it read 1 |

use std::fmt;
use std::str::FromStr;

use raddle_core::Order;

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// The instructions of each thread.
    pub threads: Vec<Vec<Instruction>>,
}

/// One instruction. Variables are letters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Stores a value; `None` is the value that the thread read last.
    Store(char, Option<u64>, Order),
    /// Loads.
    Load(char, Order),
    /// Adds to the variable.
    Add(char, u64, Order),
    /// Replaces the value.
    Swap(char, u64, Order),
    /// Replaces the first value by the second, with the orderings of success and failure.
    Exchange(char, u64, u64, Order, Order),
    /// A fence.
    Fence(Order),
    /// Ends the thread unless it read this value last.
    Require(u64),
    /// Goes back to the instruction before, which reads, unless that read this value.
    Await(u64),
}

impl Instruction {
    /// Returns the accessed variable.
    pub fn variable(self) -> Option<char> {
        match self {
            Instruction::Store(variable, ..)
            | Instruction::Load(variable, ..)
            | Instruction::Add(variable, ..)
            | Instruction::Swap(variable, ..)
            | Instruction::Exchange(variable, ..) => Some(variable),
            Instruction::Fence(_) | Instruction::Require(_) | Instruction::Await(_) => None,
        }
    }

    /// Returns whether the instruction is an operation, and not a test of what was read last.
    pub fn is_operation(self) -> bool {
        !matches!(self, Instruction::Require(_) | Instruction::Await(_))
    }

    /// Returns whether the instruction reads its variable.
    pub fn reads(self) -> bool {
        match self {
            Instruction::Load(..)
            | Instruction::Add(..)
            | Instruction::Swap(..)
            | Instruction::Exchange(..) => true,
            Instruction::Store(..)
            | Instruction::Fence(_)
            | Instruction::Require(_)
            | Instruction::Await(_) => false,
        }
    }
}

impl Code {
    /// Returns all variables in alphabetical order.
    pub fn variables(&self) -> Vec<char> {
        let all = self.threads.iter().flatten().filter_map(|instruction| instruction.variable());
        let mut all: Vec<char> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// The error for a text that is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeError {
    /// The part that is no instruction.
    pub part: String,
}

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no instruction of a litmus test", self.part)
    }
}

impl std::error::Error for CodeError {}

impl FromStr for Code {
    type Err = CodeError;

    fn from_str(text: &str) -> Result<Code, CodeError> {
        let thread = |part: &str| {
            let parts = part.split(';').map(str::trim).filter(|part| !part.is_empty());
            parts
                .map(|part| parse(part).ok_or_else(|| CodeError { part: part.to_owned() }))
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(Code { threads: text.split('|').map(thread).collect::<Result<_, _>>()? })
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (thread, instructions) in self.threads.iter().enumerate() {
            f.write_str(if thread > 0 { " | " } else { "" })?;
            for (at, instruction) in instructions.iter().enumerate() {
                f.write_str(if at > 0 { ";" } else { "" })?;
                match *instruction {
                    Instruction::Store(variable, Some(value), order) => {
                        write!(f, "W{variable}{value}{}", letter(order))?;
                    }
                    Instruction::Store(variable, None, order) => {
                        write!(f, "W{variable}@{}", letter(order))?;
                    }
                    Instruction::Load(variable, order) => {
                        write!(f, "R{variable}{}", letter(order))?;
                    }
                    Instruction::Add(variable, value, order) => {
                        write!(f, "U{variable}+{value}{}", letter(order))?;
                    }
                    Instruction::Swap(variable, value, order) => {
                        write!(f, "X{variable}{value}{}", letter(order))?;
                    }
                    Instruction::Exchange(variable, expected, new, success, failure) => {
                        let orders = (letter(success), letter(failure));
                        write!(f, "C{variable}{expected}>{new}{}{}", orders.0, orders.1)?;
                    }
                    Instruction::Fence(order) => write!(f, "F{}", letter(order))?,
                    Instruction::Require(value) => write!(f, "?{value}")?,
                    Instruction::Await(value) => write!(f, "!{value}")?,
                }
            }
        }
        Ok(())
    }
}

fn letter(order: Order) -> char {
    match order {
        Order::Relaxed => 'l',
        Order::Acquire => 'a',
        Order::Release => 'r',
        Order::AcqRel => 'q',
        Order::SeqCst => 's',
    }
}

fn order(letter: char) -> Option<Order> {
    Some(match letter {
        'l' => Order::Relaxed,
        'a' => Order::Acquire,
        'r' => Order::Release,
        'q' => Order::AcqRel,
        's' => Order::SeqCst,
        _ => return None,
    })
}

fn parse(part: &str) -> Option<Instruction> {
    let mut rest = part.chars();
    let kind = rest.next()?;
    if kind == '?' {
        return rest.as_str().parse().ok().map(Instruction::Require);
    }
    if kind == '!' {
        return rest.as_str().parse().ok().map(Instruction::Await);
    }
    if kind == 'F' {
        return order(rest.next()?).filter(|_| rest.next().is_none()).map(Instruction::Fence);
    }
    let variable = rest.next()?;
    let text = rest.as_str();
    let orders_from = text.find(|c: char| order(c).is_some()).unwrap_or(text.len());
    let (operands, orders) = text.split_at(orders_from);
    let orders: Vec<Order> = orders.chars().map(order).collect::<Option<_>>()?;
    let first = match orders[..] {
        [] => Order::Relaxed,
        [first] | [first, _] => first,
        _ => return None,
    };
    if orders.len() > 1 && kind != 'C' {
        return None;
    }
    Some(match kind {
        'W' if operands == "@" => Instruction::Store(variable, None, first),
        'W' => Instruction::Store(variable, Some(operands.parse().ok()?), first),
        'R' if operands.is_empty() => Instruction::Load(variable, first),
        'U' => Instruction::Add(variable, operands.strip_prefix('+')?.parse().ok()?, first),
        'X' => Instruction::Swap(variable, operands.parse().ok()?, first),
        'C' => {
            let (expected, new) = operands.split_once('>')?;
            let failure = orders.get(1).copied().unwrap_or(Order::Relaxed);
            Instruction::Exchange(
                variable,
                expected.parse().ok()?,
                new.parse().ok()?,
                first,
                failure,
            )
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parsing_and_displaying_are_inverse() {
        let text = "Wx1l;Wy@r;Rxa | Ux+1q;Xx3s;Cx0>12sl;Fs;?1;Rys;!2";
        assert_eq!(text.parse::<Code>().unwrap().to_string(), text);
        assert_eq!(
            "Wx1;Ry|Fa".parse::<Code>().unwrap().to_string(),
            "Wx1l;Ryl | Fal".replace("al", "a")
        );
        for wrong in ["Wx", "Qx1", "Rx1", "Ux1", "F", "Fl2", "Cx1", "Wx1rr"] {
            assert!(wrong.parse::<Code>().is_err(), "{wrong}");
        }
    }
}
