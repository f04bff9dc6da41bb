//! Programs of litmus tests, and how they are written.
//!
//! Threads are separated by `|`, instructions by `;`. Variables are single letters and begin with 0.
//! Orders are `l` (relaxed), `a`, `r`, `q` (acquire and release) and `s`; relaxed if none stands there.
//!
//! | text | meaning |
//! | --- | --- |
//! | `Wx1`, `Wx1r` | store 1 to x |
//! | `Wx@` | store what this thread read last |
//! | `Rx`, `Rxa` | load x |
//! | `Ux+1`, `Ux+1q` | add 1 to x, reading it |
//! | `Xx1q` | swap x for 1 |
//! | `Cx0>1ql` | replace 0 by 1, acquire-release if it succeeds, relaxed if it fails |
//! | `Fs` | fence |
//! | `?1` | go on only if this thread read 1 last |

use std::fmt;
use std::str::FromStr;

use raddle_core::Order;

/// A program: what each thread does.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// By thread.
    pub threads: Vec<Vec<Instruction>>,
}

/// One instruction. Variables are letters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Store a value; `None` is what the thread read last.
    Store(char, Option<u64>, Order),
    /// Load.
    Load(char, Order),
    /// Add.
    Add(char, u64, Order),
    /// Swap.
    Swap(char, u64, Order),
    /// Replace the first value by the second: orders of success and of failure.
    Exchange(char, u64, u64, Order, Order),
    /// Fence.
    Fence(Order),
    /// End the thread unless this was read last.
    Require(u64),
}

impl Instruction {
    /// The variable it is about.
    pub fn variable(self) -> Option<char> {
        match self {
            Instruction::Store(variable, ..)
            | Instruction::Load(variable, ..)
            | Instruction::Add(variable, ..)
            | Instruction::Swap(variable, ..)
            | Instruction::Exchange(variable, ..) => Some(variable),
            Instruction::Fence(_) | Instruction::Require(_) => None,
        }
    }

    /// Whether it reads its variable.
    pub fn reads(self) -> bool {
        match self {
            Instruction::Load(..)
            | Instruction::Add(..)
            | Instruction::Swap(..)
            | Instruction::Exchange(..) => true,
            Instruction::Store(..) | Instruction::Fence(_) | Instruction::Require(_) => false,
        }
    }
}

impl Code {
    /// All variables, in the order of their letters.
    pub fn variables(&self) -> Vec<char> {
        let all = self.threads.iter().flatten().filter_map(|instruction| instruction.variable());
        let mut all: Vec<char> = all.collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// A text that is no program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeError {
    /// The part that is not understood.
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
    fn text_comes_back_as_it_was() {
        let text = "Wx1l;Wy@r;Rxa | Ux+1q;Xx3s;Cx0>12sl;Fs;?1;Rys";
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
