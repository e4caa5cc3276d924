#ifndef OPEN_IF
